"""Tools whose work the gate can read: one module each."""
