"""`python -m presage predict --state "…" --action "…"`: a first try, with the key in PRESAGE_API_KEY."""

import argparse
import json
import os
import sys

from . import Presage, PresageError


def main() -> None:
    parser = argparse.ArgumentParser("python -m presage", description="Asks a Presage server.")
    predict = parser.add_subparsers(required=True).add_parser("predict", help="the state after an action")
    predict.add_argument("--state", required=True)
    predict.add_argument("--action", required=True)
    predict.add_argument("--url", help="PRESAGE_URL if not given, or http://127.0.0.1:8080")
    predict.add_argument("--json", action="store_true", help="the whole response")
    asked = parser.parse_args()
    try:
        prediction = Presage(asked.url).predict(asked.state, asked.action)
    except (PresageError, ValueError) as error:
        sys.exit(str(error))
    text = json.dumps(prediction, indent=2) if asked.json else prediction.get("response", {}).get("content", "")
    if sys.stdout.isatty():  # A model may write control sequences, or characters that the terminal cannot show.
        text = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
    try:
        print(text.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding), flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes the rest when it ends.
        is_closed = isinstance(error, BrokenPipeError)
        sys.exit(141 if is_closed else f"The output cannot be written: {error.strerror}")


if __name__ == "__main__":
    main()
