import { type Period, periodLabels, periods } from "../../format/times.ts";
import { Segmented } from "./segmented.tsx";

const options = periods.map((period) => ({ value: period, label: periodLabels[period] }));

export function PeriodPicker({ value, onChange }: { value: Period; onChange(period: Period): void }) {
  return <Segmented label="Period" value={value} options={options} onChange={onChange} />;
}
