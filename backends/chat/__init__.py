"""Chat models. No stage needs one; the gateway to them is a later issue."""
