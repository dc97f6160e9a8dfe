#!/bin/sh
# A prediction for every line of a file, by the configured upstream or the sandbox. Run it again to see that it resumes.
set -eu
cd "$(dirname "$0")"
npx presage predict --file transitions.jsonl --out "${1:-predictions.jsonl}"
