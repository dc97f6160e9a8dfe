import type {
  Environment,
  EnvironmentReality,
  Presage,
  RealityCheck,
  RealityCheckRequest,
  Run,
} from "@presage/sdk";
import { queryOptions, useMutation } from "@tanstack/react-query";
import { isNotFound, refreshWhile, useChange, usePresage } from "./client.ts";
import { environmentsQuery } from "./environments.ts";

const realityKey = ["reality"];
const mostChecks = 100;
const mostOfEnvironment = 1_000;
/** The greatest number of episodes of a check that a page lists. */
export const mostListed = 100;
/** Limits how often figures are reloaded, since each time is some work for the server. */
const refreshMs = 5_000;

/** How often success in an environment is real, according to all of its reality checks. */
export function realityQuery(presage: Presage, name: string) {
  return queryOptions({
    queryKey: [...realityKey, "figures", name],
    queryFn: ({ signal }) => presage.realityChecks.ofEnvironment(name, {}, { signal }),
  });
}

type State = NonNullable<EnvironmentReality["state"]>;

/** The alarm of an environment, else the latest alarm of one of its policies. */
export function alarmIn(state: State | null | undefined): State | State["policies"][number] | undefined {
  if (state?.state === "alarm") return state;
  return state?.policies.findLast((one) => one.state === "alarm");
}

/** The newest check that is shown to exceed its own limit. */
export function checkAboveLimit({ limited_check: check }: EnvironmentReality): typeof check {
  return check?.outcome === "above" ? check : null;
}

/** The names of environments that have a limit of false success or appear in a reality check. */
export function checkedEnvironmentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...realityKey, "latest"],
    async queryFn({ client, signal }) {
      const [checks, environments] = await Promise.all([
        presage.realityChecks.list({ atMost: mostChecks, signal }),
        client.fetchQuery(environmentsQuery(presage)),
      ]);
      const latest = new Set(checks.map(({ environment }) => environment));
      async function isChecked({ name, config }: Environment): Promise<boolean> {
        if (latest.has(name) || config.real?.false_success_limit) return true;
        // What is older than the latest is asked for by itself.
        if (checks.length < mostChecks) return false;
        return (await presage.realityChecks.list({ environment: name, atMost: 1, signal })).length > 0;
      }
      const are = await Promise.all(environments.map(isChecked));
      return environments.flatMap(({ name }, index) => (are[index] ? name : []));
    },
  });
}

/** Paused reality checks, which continue only if someone resumes them. */
export function pausedChecksQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...realityKey, "paused"],
    queryFn: ({ signal }) => presage.realityChecks.list({ status: "paused", atMost: mostChecks, signal }),
  });
}

/** The reality checks of an environment, newest first, and their figures; reloaded while episodes are replayed. */
export function checksQuery(presage: Presage, environment: string) {
  return queryOptions({
    queryKey: [...realityKey, "checks", environment],
    async queryFn({ signal }) {
      // The figures are loaded last, so that they cover every episode of the checks.
      const checks = await presage.realityChecks.list({ environment, atMost: mostOfEnvironment, signal });
      return { checks, figures: await presage.realityChecks.ofEnvironment(environment, {}, { signal }) };
    },
    refetchInterval: refreshWhile((data: { checks: RealityCheck[] } | undefined) =>
      data?.checks.some(isReplaying) ? refreshMs : false,
    ),
  });
}

function isReplaying({ status, source, waiting }: RealityCheck): boolean {
  return status === "running" && (source !== "continuous" || waiting > 0);
}

/** The first episodes of a check that succeeded in simulation alone, or that could not be replayed. */
export function checkedEpisodesQuery(
  presage: Presage,
  { id, episodes, failed }: RealityCheck,
  show: "false-successes" | "failed",
) {
  return queryOptions({
    queryKey: [...realityKey, "episodes", id, show, episodes, failed],
    queryFn: ({ signal }) => presage.realityChecks.episodes(id, { show, atMost: mostListed, signal }),
  });
}

/** What really happened to an episode's actions; null if they were not replayed. */
export function episodeRealityQuery(presage: Presage, id: string, environment: string) {
  return queryOptions({
    queryKey: [...realityKey, "episode", id],
    async queryFn({ signal }) {
      const checks = await presage.realityChecks.list({ environment, atMost: mostChecks, signal });
      // Most environments have none, and browsers log each error response.
      if (checks.length < mostChecks && checks.every(({ source }) => source === "pairs")) return null;
      return await presage.realityChecks.ofEpisode(id, { signal }).catch((error: unknown) => {
        if (isNotFound(error)) return null;
        throw error;
      });
    },
  });
}

/** The real environments that the operator has declared. */
export function realEnvironmentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...realityKey, "environments"],
    queryFn: ({ signal }) => presage.realEnvironments.list({ signal }),
  });
}

/** Starts a reality check. */
export function useCheckReality(onSuccess?: () => void) {
  return useChange(
    realityKey,
    (presage, request: RealityCheckRequest) => presage.realityChecks.create(request),
    onSuccess,
  );
}

/** Gets the run of a check, and creates it if necessary. */
export function useRunOfCheck(id: string, onSuccess: (run: Run) => void) {
  const presage = usePresage();
  return useMutation({ mutationFn: () => presage.realityChecks.run(id), onSuccess });
}

/** Cancels a reality check, or resumes a paused one. */
export function useChangeCheck(id: string) {
  return useChange(realityKey, (presage, change: "cancel" | "resume") => presage.realityChecks[change](id));
}
