#!/bin/sh
# Starts Palazzo for this plugin. Programs that start plugins often have a shorter PATH than a
# terminal, so the usual folders are searched too. Standard output belongs to the program.

# A conversation is kept only if the user of the plugin has chosen it.
if [ "$1 $2" = "hook session-end" ] && [ "${CLAUDE_PLUGIN_OPTION_KEEP_CONVERSATIONS:-false}" != true ]; then
    exit 0
fi

found=$(command -v palazzo)
for program in "$found" "$HOME/.cargo/bin/palazzo" "$HOME/.local/bin/palazzo" /opt/homebrew/bin/palazzo \
    /usr/local/bin/palazzo; do
    if [ -n "$program" ] && [ -x "$program" ]; then
        exec "$program" "$@"
    fi
done

echo 'palazzo is not installed, or in none of the usual folders. Install it with one of
    npm install --global palazzo
    cargo install palazzo
and start a new conversation.' >&2
exit 127
