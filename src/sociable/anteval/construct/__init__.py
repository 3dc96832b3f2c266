"""How characters for AntEval are made: drawn by the rules, named and described by a model (section 3.1)."""
