"""An application that has nothing but a handler, as a user's would."""
