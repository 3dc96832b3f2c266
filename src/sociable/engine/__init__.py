"""How a run is begun, carried out, resumed and scored. Knows no benchmark by name."""
