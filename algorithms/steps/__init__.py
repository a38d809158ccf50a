"""The noisy projected gradient step that several algorithms share."""
