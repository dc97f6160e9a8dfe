import { CurveChart, type CurveChartProps } from "./plot/curve-chart.tsx";

/** Values by step with their intervals as bands. */
export function BandCurve(props: CurveChartProps) {
  return <CurveChart shape="line" {...props} />;
}
