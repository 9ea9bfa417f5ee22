"""Models with stations that block when full, or with limits shared by stations."""
