import type { EnvironmentReality, Presage, RealityCheck, RealityCheckRequest, Run } from "@presage/sdk";
import { queryOptions, useMutation } from "@tanstack/react-query";
import { isNotFound, refreshWhile, useChange, usePresage } from "./client.ts";
import { environmentsQuery } from "./environments.ts";

const realityKey = ["reality"];
const mostChecks = 100;
const mostOfEnvironment = 1_000;
/** The most episodes of a check that a page lists. */
export const mostListed = 100;
/** Figures are some work for the server. */
const refreshMs = 5_000;

/** How often success in an environment is real, by all of its reality checks. */
export function realityQuery(presage: Presage, name: string) {
  return queryOptions({
    queryKey: [...realityKey, "figures", name],
    queryFn: ({ signal }) => presage.realityChecks.ofEnvironment(name, {}, { signal }),
  });
}

type State = NonNullable<EnvironmentReality["state"]>;

/** The alarm of an environment, else that of the policy that came last with one of its own. */
export function alarmIn(state: State | null | undefined): State | State["policies"][number] | undefined {
  if (state?.state === "alarm") return state;
  return state?.policies.findLast((one) => one.state === "alarm");
}

/** The newest check that is shown to be above a limit of its own. */
export function checkAboveLimit({ limited_check: check }: EnvironmentReality): typeof check {
  return check?.outcome === "above" ? check : null;
}

/** The names of environments that have a limit of false success, or are in the latest reality checks. */
export function checkedEnvironmentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...realityKey, "latest"],
    async queryFn({ client, signal }) {
      const [checks, environments] = await Promise.all([
        presage.realityChecks.list({ atMost: mostChecks, signal }),
        client.fetchQuery(environmentsQuery(presage)),
      ]);
      const checked = new Set(checks.map(({ environment }) => environment));
      return environments
        .filter(({ name, config }) => checked.has(name) || config.real?.false_success_limit)
        .map(({ name }) => name);
    },
  });
}

/** Reality checks that go on only if someone resumes them. */
export function pausedChecksQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...realityKey, "paused"],
    queryFn: ({ signal }) => presage.realityChecks.list({ status: "paused", atMost: mostChecks, signal }),
  });
}

/** The reality checks of an environment, newest first, and what they say: read again while episodes are replayed. */
export function checksQuery(presage: Presage, environment: string) {
  return queryOptions({
    queryKey: [...realityKey, "checks", environment],
    async queryFn({ signal }) {
      // The figures last, so that they have every episode that a check has.
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
      // Most environments have none, and a browser complains of each response that is an error.
      if (checks.length < mostChecks && checks.every(({ source }) => source === "pairs")) return null;
      return await presage.realityChecks.ofEpisode(id, { signal }).catch((error: unknown) => {
        if (isNotFound(error)) return null;
        throw error;
      });
    },
  });
}

/** What the operator has declared. */
export function realEnvironmentsQuery(presage: Presage) {
  return queryOptions({
    queryKey: [...realityKey, "environments"],
    queryFn: ({ signal }) => presage.realEnvironments.list({ signal }),
  });
}

/** Begins a reality check. */
export function useCheckReality(onSuccess?: () => void) {
  return useChange(
    realityKey,
    (presage, request: RealityCheckRequest) => presage.realityChecks.create(request),
    onSuccess,
  );
}

/** Gets a check as a run, which may be made by this. */
export function useRunOfCheck(id: string, onSuccess: (run: Run) => void) {
  const presage = usePresage();
  return useMutation({ mutationFn: () => presage.realityChecks.run(id), onSuccess });
}

/** Ends a reality check before its time, or goes on with a paused one. */
export function useChangeCheck(id: string) {
  return useChange(realityKey, (presage, change: "cancel" | "resume") => presage.realityChecks[change](id));
}
