"""Training: what is asked for, what is told, the loop, and the process it runs in. `finetune.running` drives it."""
