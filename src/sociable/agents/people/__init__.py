"""People in models' places: at the terminal, or at the desk, a file that several people answer through a browser."""
