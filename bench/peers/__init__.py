"""The peers, each in its recommended production configuration."""
