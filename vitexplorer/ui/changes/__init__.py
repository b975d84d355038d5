"""The interventions as switches with their controls: heads and patches are picked on what they are."""
