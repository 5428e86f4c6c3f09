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
    # A path that is not absolute would run a program of the repository that is open.
    case $program in
    /*) if [ -f "$program" ] && [ -x "$program" ]; then exec "$program" "$@"; fi ;;
    esac
done

echo 'palazzo is not installed, or in none of the usual folders. Install it, and start a new conversation:
    cargo install --locked --path .    in a checkout of Palazzo
    npm install --global palazzo       from the first release' >&2
exit 127
