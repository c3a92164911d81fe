"""What people read, and bringing the forge there."""
