import { createSignInPath } from "../compose/compose-sign-in.ts";
import type { Config } from "../config.ts";
import { browserAddress } from "../http/browser-address.ts";
import { listenAddress } from "../http/listen.ts";
import { CommandError } from "./command-error.ts";
import { withDatabase } from "./with-database.ts";

/** Prints a new one-time URL that signs a browser in as the owner. */
export async function printSignInAddress(config: Config): Promise<void> {
  const { listen, identity } = config;
  if (identity.oidc !== undefined) {
    throw new CommandError(
      `Users sign in at ${identity.oidc.issuer} (PRESAGE_OIDC_ISSUER); sign-in URLs are for local mode only.`,
    );
  }
  if (listen.publicUrl === undefined && listen.port === 0) {
    throw new CommandError("PRESAGE_PORT is 0, so the server's URL is unknown; set PRESAGE_PUBLIC_URL.");
  }
  await withDatabase(config, async (store) => {
    const publicUrl = listen.publicUrl ?? browserAddress(listenAddress(listen.host, listen.port));
    process.stdout.write(`${publicUrl}${await createSignInPath(store)}\n`);
    process.stderr.write("The URL works once, within 12 hours.\n");
  });
}
