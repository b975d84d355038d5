"""The Check-up room: why a model does not work on some pictures, with the proof and a repair that was tried."""
