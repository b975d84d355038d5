"""How large a model is and what a picture costs: one story of all countings, a calculator, and tables on demand."""
