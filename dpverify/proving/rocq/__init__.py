"""What is proved, said again in Rocq (Coq): its kernel accepts statements and scripts made from certificates."""
