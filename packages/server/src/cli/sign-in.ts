import { findUser } from "../accounts/users.ts";
import { localIssuer } from "../accounts/users-store.ts";
import { createSignInPath } from "../app/compose-accounts.ts";
import { listenAddress } from "../app/listen.ts";
import type { Config } from "../config/config.ts";
import { browserAddress } from "../http/pages.ts";
import { recordChange } from "../platform/audit.ts";
import { CommandError } from "./command-error.ts";
import { changerFor } from "./command-line-actor.ts";
import { findServer } from "./find-server.ts";
import { printNotice } from "./print-notice.ts";
import { withDatabase } from "./with-database.ts";

/** Prints a new one-time link that signs a browser in, as the owner or as a user that was added. */
export async function printSignInAddress(config: Config, { user }: { user?: string }): Promise<void> {
  const { listen, identity } = config;
  if (identity.oidc !== undefined) {
    throw new CommandError(
      `Users sign in at ${identity.oidc.issuer} (PRESAGE_OIDC_ISSUER); sign-in links are for local mode only.`,
    );
  }
  await withDatabase(config, async (store) => {
    const { running, noted, isTaken } = await findServer(store.database, config);
    const publicUrl = listen.publicUrl ?? running ?? noted[0] ?? configuredAddress(listen);
    // It would be sent the token.
    if (await isTaken(publicUrl)) {
      throw new CommandError(
        `The server that answers at ${publicUrl} is not on this database, so no sign-in URL was made. Start one on this database first.`,
      );
    }
    const signedIn = user === undefined ? store.owner : await findUser(store.database, user);
    if (signedIn.oidc_issuer !== localIssuer)
      throw new CommandError("This user signs in at an OpenID provider, not with a link.");
    const path = await store.database.transaction().execute(async (database) => {
      const change = { action: "user.create_sign_in_link", objectId: signedIn.id } as const;
      await recordChange(database, changerFor(signedIn), change);
      return await createSignInPath({ database, owner: signedIn });
    });
    process.stdout.write(`${publicUrl}${path}\n`);
    printNotice("The link works once, within 12 hours.");
    if (running === undefined) printNotice(`${explainNoServer(noted)} Start it first.`);
  });
}

/** Where the server will be reached once it runs. */
function configuredAddress({ host, port }: Config["listen"]): string {
  if (port !== 0) return browserAddress(listenAddress(host, port));
  throw new CommandError(
    "No server is running on this database, and PRESAGE_PORT is 0, so the link is unknown. Start the server, or set PRESAGE_PUBLIC_URL.",
  );
}

/** Every server is noted when it starts; one that crashed still is. */
function explainNoServer(noted: readonly string[]): string {
  if (noted.length === 0) return "No server is running on this database.";
  return `The server on this database does not answer at ${noted.join(" or ")}.`;
}
