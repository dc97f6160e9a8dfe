import { formatCount } from "./format-number.ts";

/** Which predictions are stored under a setting, for the middle of a sentence: “none”, “those that fail”, “all”, “1 in 100”. */
export function describeCapture(setting: string): string {
  if (setting === "off") return "none";
  if (setting === "failures") return "those that fail";
  const share = setting === "all" ? 1 : Number(setting);
  if (share === 0) return "none";
  if (share === 1) return "all";
  const every = 1 / share;
  const isEven = Math.abs(every - Math.round(every)) < 1e-6;
  return isEven ? `1 in ${formatCount(Math.round(every))}` : `${Number((share * 100).toFixed(4))} %`;
}
