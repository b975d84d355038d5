"""The Size & cost room: parameters and operations by every way of counting, a calculator, and tables on demand."""
