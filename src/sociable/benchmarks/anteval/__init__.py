"""AntEval: Evaluation of Social Interaction Competencies in LLM-Driven Agents. A role-playing game at a table."""
