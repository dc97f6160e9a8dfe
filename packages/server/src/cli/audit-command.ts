import type { Command } from "commander";
import { type Configure, json } from "./command-options.ts";
import { examples } from "./examples.ts";

/** `presage audit`. */
export function addAuditCommand(program: Command, configure: Configure): void {
  program
    .command("audit")
    .description("list who changed what")
    .option("--action <action>", "only this action, such as api_key.create")
    .option("--user <user>", "only what this user did, by id or e-mail address")
    .option("--object <id>", "only what was done to this object")
    .option("--from <time>", "from this time, as a date or date-time")
    .option("--to <time>", "before this time")
    .option("--account <name>", "of this account; by default the owner's")
    .option("--limit <number>", "maximum number of events", "100")
    .option(...json)
    .addHelpText(
      "after",
      examples(
        "presage audit",
        "presage audit --action user.change_role --from 2027-01-01",
        "presage audit --user ada@example.org --json",
      ),
    )
    .action(async (options) =>
      (await import("./list-audit-events.ts")).listAuditEvents(configure(), options),
    );
}
