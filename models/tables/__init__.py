"""Tables, neutral and shown as text, HTML or CSV; and what every answer can be asked."""
