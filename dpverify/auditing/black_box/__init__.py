"""How the black-box privacy audit chooses an event and judges it."""
