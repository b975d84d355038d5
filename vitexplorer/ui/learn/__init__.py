"""The guided path beside the rooms."""
