import { Role } from "@presage/contract";
import type { Command } from "commander";
import { type Configure, json } from "./command-options.ts";
import { examples } from "./examples.ts";

/** `presage users`. */
export function addUsersCommands(program: Command, configure: Configure): void {
  const users = program
    .command("users")
    .summary("list, add, change or delete users")
    .description("list or add users, change roles, end all access of one, or delete one")
    .addHelpText(
      "after",
      examples(
        "presage users list",
        "presage users role ada@example.org owner",
        "presage users end ada@example.org",
      ),
    );
  users
    .command("list")
    .description("list everyone who has ever signed in or was added, with live sessions and active keys")
    .option(...json)
    .addHelpText("after", examples("presage users list", "presage users list --json"))
    .action(async (options) => (await import("./users.ts")).showUsers(configure(), options));
  users
    .command("add <name>")
    .description(
      "add a user to the owner's account: someone who signs in with a link (local mode), or a service that only has keys",
    )
    .option("--role <role>", `${Role.options.join(", ")}`, "member")
    .option("--email <address>", "by which commands and the audit log name the user")
    .addHelpText(
      "after",
      examples(
        "presage users add Ada --email ada@example.org --role viewer",
        "presage sign-in --user ada@example.org",
      ),
    )
    .action(async (name: string, options) =>
      (await import("./add-user.ts")).addUser(configure(), name, options),
    );
  users
    .command("role <user> <role>")
    .description(
      `make a user an ${Role.options.join(", ")}; running servers apply it at once to sessions, within 5 s to keys`,
    )
    .addHelpText("after", examples("presage users role ada@example.org owner"))
    .action(async (user: string, role: string) =>
      (await import("./change-user-role.ts")).changeUserRole(configure(), user, role),
    );
  users
    .command("end <user>")
    .description(
      "end all sessions and revoke all keys of a user, given by id or by an e-mail address that no other user has. A user who can still sign in at the OpenID provider regains access: end their access there first",
    )
    .addHelpText(
      "after",
      examples("presage users end ada@example.org", "presage users end 0199f3c4-6f7e-7a31-9d0b-5b1c2d3e4f50"),
    )
    .action(async (user: string) => (await import("./users.ts")).endUserAccess(configure(), user));
  users
    .command("erase <user>")
    .description(
      "delete a user with sessions and keys, and the account's data if no one else is in it; without --yes only list what that is",
    )
    .option("--yes", "delete it")
    .addHelpText(
      "after",
      examples("presage users erase ada@example.org", "presage users erase --yes ada@example.org"),
    )
    .action(async (user: string, options) =>
      (await import("./erase.ts")).eraseUser(configure(), user, options),
    );
}
