import type { Step } from "../../format/times.ts";

const hourMs = 3_600_000;
const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayOfHour = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const wholeDay = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** A step on an axis: hours in the user's time zone, days in UTC. */
export function formatStepShort(startMs: number, step: Step): string {
  return (step === "hour" ? hour : day).format(startMs);
}

/** A step in full. */
export function formatStep(startMs: number, step: Step): string {
  if (step === "day") return `${wholeDay.format(startMs)}, UTC`;
  return `${dayOfHour.format(startMs)}, ${hour.format(startMs)}–${hour.format(startMs + hourMs)}`;
}
