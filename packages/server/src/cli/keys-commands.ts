import type { Command } from "commander";
import { type Configure, json } from "./command-options.ts";
import { examples } from "./examples.ts";

const rateLimit = ["--rate-limit-rpm <number>", "requests per minute; none for the server's limit"] as const;
const maxInFlight = ["--max-in-flight <number>", "concurrent requests; none for the server's limit"] as const;
const capture = [
  "--capture <setting>",
  "which predictions are kept: off, failures, all, a share such as 0.01; default for the server's setting",
] as const;
const user = ["--user <user>", "whose key, by id or e-mail address; by default the owner's"] as const;

/** `presage keys`. */
export function addKeysCommands(program: Command, configure: Configure): void {
  const keys = program
    .command("keys")
    .description("create, list, change or revoke API keys")
    .addHelpText(
      "after",
      examples("presage keys create --name training --expires-at 30d", "presage keys list"),
    );
  keys
    .command("create")
    .description("create a key and print it once")
    .requiredOption("--name <name>", "what the key is for")
    .option(
      "--expires-at <time>",
      "when it expires: a time from now (m, h, d, w, y), a date, or a date-time; without it, never",
    )
    .option(...rateLimit)
    .option(...maxInFlight)
    .option(...capture)
    .option(
      "--scopes <list>",
      "what the key may do: predict, evaluate, read, manage, separated by commas; without it, all that its user may",
    )
    .option(...user)
    .addHelpText(
      "after",
      examples(
        "presage keys create --name training",
        "presage keys create --name trial --expires-at 12h",
        "presage keys create --name 2026 --expires-at 2027-01-01",
        "presage keys create --name noon --expires-at 2027-01-31T12:00:00Z",
        "presage keys create --name notebook --rate-limit-rpm 60 --max-in-flight 4",
        "presage keys create --name agent --scopes predict,read --user ada@example.org",
      ),
    )
    .action(async (options) => (await import("./keys.ts")).createKey(configure(), options));
  keys
    .command("list")
    .description("list the keys, newest first")
    .option(...json)
    .option(...user)
    .addHelpText("after", examples("presage keys list", "presage keys list --json"))
    .action(async (options) => (await import("./keys.ts")).listKeys(configure(), options));
  keys
    .command("update <id>")
    .description(
      "change the limits of a key, or which of its predictions are kept; running servers apply it within 5 s",
    )
    .option(...rateLimit)
    .option(...maxInFlight)
    .option(...capture)
    .option(...user)
    .addHelpText(
      "after",
      examples(
        "presage keys update 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50 --rate-limit-rpm 60",
        "presage keys update 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50 --capture failures",
      ),
    )
    .action(async (id: string, options) => (await import("./keys.ts")).updateKey(configure(), id, options));
  keys
    .command("revoke <id>")
    .description("revoke a key; running servers reject it within 5 s")
    .option(...user)
    .addHelpText("after", examples("presage keys revoke 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50"))
    .action(async (id: string, options) => (await import("./keys.ts")).revokeKey(configure(), id, options));
}
