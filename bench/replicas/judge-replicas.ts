import type { Goal } from "../report/goal.ts";
import type { ReplicasPlan } from "./plan-replicas.ts";
import { policyNames } from "./play-sessions.ts";
import { choosingFigure, policyFigure, slowRatio, throughputRatio } from "./replicas-figures.ts";
import type { ReplicasResult } from "./run-replicas.ts";

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export const judgeReplicas = (result: ReplicasResult, { choosing: { replicas } }: ReplicasPlan): Goal[] => {
  const goal = (
    text: string,
    read: (result: ReplicasResult) => number | undefined,
    isMet: (value: number) => boolean,
    show: (value: number) => string,
  ): Goal => {
    const value = read(result);
    if (value === undefined || Number.isNaN(value)) return { text, measured: "not measured", met: undefined };
    return { text, measured: show(value), met: isMet(value) };
  };
  const times = (value: number) => `${value.toFixed(2)} times`;
  const others = policyNames.filter((name) => name !== "presage");
  return [
    goal(
      "At least 95 % of the steps find their prefix",
      (given) => policyFigure(given, "presage", ({ hitShare }) => hitShare)?.median,
      (share) => share >= 0.95,
      percent,
    ),
    goal(
      "The most loaded holds at most 1.35 times the mean",
      (given) => policyFigure(given, "presage", ({ imbalance }) => imbalance)?.median,
      (ratio) => ratio <= 1.35,
      times,
    ),
    goal(
      "At least 1.5 times round robin's throughput",
      (given) => throughputRatio(given, "round robin")?.median,
      (ratio) => ratio >= 1.5,
      times,
    ),
    goal(
      "More throughput than every other policy",
      (given) => Math.min(...others.map((name) => throughputRatio(given, name)?.median ?? Number.NaN)),
      (ratio) => ratio > 1,
      (ratio) => `${times(ratio)} that of the best other`,
    ),
    goal(
      "With one system prompt of 30 KB for all, none holds more than 1.35 times the mean",
      (given) => Math.max(...given.sharedPrompt.values().map(({ imbalance }) => imbalance)),
      (ratio) => ratio <= 1.35,
      times,
    ),
    goal(
      "With one ten times as slow, at least 0.85 times the throughput of the others alone",
      (given) => slowRatio(given)?.median,
      (ratio) => ratio >= 0.85,
      times,
    ),
    goal(
      "Kill -9 of one of four under load fails no request",
      ({ kill }) => kill.failed,
      (failed) => failed === 0,
      (failed) => `${failed} of ${result?.kill.steps.toLocaleString("en-US")} failed`,
    ),
    goal(
      "A killed one is ejected within 1 s",
      ({ kill }) => kill.ejectedAfterMs,
      (ms) => ms <= 1_000,
      (ms) => `${ms.toFixed(0)} ms`,
    ),
    goal(
      "At least 95 % of the steps of the other sessions stay where they were, also once it is back",
      ({ kill }) => Math.min(kill.stayedWhileOut, kill.stayedOnceBack),
      (share) => share >= 0.95,
      percent,
    ),
    goal(
      "Once back, it never holds more than 1.5 times the mean",
      ({ kill }) => kill.mostOnceBack,
      (ratio) => ratio <= 1.5,
      times,
    ),
    goal(
      "While all are down, at most 1.2 times as many requests to them as without retries",
      ({ outage }) => outage.sent / outage.requests,
      (ratio) => ratio <= 1.2,
      times,
    ),
    goal(
      "Requests are answered again within 5 s of the end of that outage",
      ({ outage }) => outage.lastFailureAfterMs,
      (ms) => ms <= 5_000,
      (ms) => `the last failed after ${ms.toFixed(0)} ms`,
    ),
    goal(
      `Choosing among ${replicas} takes at most 5 µs of processor time`,
      (given) => choosingFigure(given)?.median,
      (us) => us <= 5,
      (us) => `${us.toFixed(1)} µs`,
    ),
  ];
};
