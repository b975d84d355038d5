"""The room Size & cost: one story of all countings, a calculator, and tables on demand."""
