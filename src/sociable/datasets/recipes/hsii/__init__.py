"""HSII: dialogues from news, cases from conversations."""
