"""How AgentSense's scenarios are built out of scripts (section 3.2, Figure 3, Appendix A)."""
