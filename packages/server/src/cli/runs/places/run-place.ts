import type { Comparison, Run, RunReport } from "@presage/contract";
import type { Config } from "../../../config/config.ts";
import { CommandError } from "../../command-error.ts";
import { withDatabase } from "../../with-database.ts";
import { localRuns } from "./local-runs.ts";
import { remoteRuns } from "./remote-runs.ts";

/** The runs of one place. */
export interface RunPlace {
  /** Newest first; of one name, or all. */
  list(name?: string): Promise<Run[]>;
  get(id: string): Promise<Run>;
  cancel(id: string): Promise<Run>;
  pause(id: string): Promise<Run>;
  resume(id: string): Promise<Run>;
  delete(id: string): Promise<void>;
  report(id: string): Promise<RunReport>;
  reportAs(id: string, format: "html" | "md"): Promise<string>;
  /** The first is the reference. */
  compare(ids: readonly string[]): Promise<Comparison>;
  /** Where the dashboard is; undefined while no server runs. */
  findOrigin(): Promise<string | undefined>;
}

export interface PlaceOptions {
  server?: string;
}

/** Works on the runs of another server, or on the owner's in the configured database. */
export async function withRuns(
  config: Config,
  { server }: PlaceOptions,
  work: (place: RunPlace) => Promise<void>,
): Promise<void> {
  if (server !== undefined) await work(remoteRuns(server, config.clientApiKey));
  else await withDatabase(config, (store) => work(localRuns(store, config)));
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const maxNamedIds = 5;

/** A run by its id, or by a name that no other run has. */
export async function findByName(place: Pick<RunPlace, "get" | "list">, nameOrId: string): Promise<Run> {
  if (uuid.test(nameOrId)) return await place.get(nameOrId.toLowerCase());
  const [run, ...others] = await place.list(nameOrId);
  if (run === undefined) throw new CommandError(`There is no run ${nameOrId}.`);
  if (others.length === 0) return run;
  const ids = [run, ...others].slice(0, maxNamedIds).map(({ id }) => `  ${id}`);
  throw new CommandError(
    [`${others.length + 1} runs are named ${nameOrId}. Give an id; the newest are:`, ...ids].join("\n"),
  );
}
