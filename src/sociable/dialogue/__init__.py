"""How people take turns."""
