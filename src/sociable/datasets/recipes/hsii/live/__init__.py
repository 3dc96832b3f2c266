"""HSII live: dossiers from dialogues."""
