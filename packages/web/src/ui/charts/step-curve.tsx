import { CurveChart, type CurveChartProps } from "./plot/curve-chart.tsx";

/** Values that hold until the next one, such as a survival curve, with their intervals as bands. */
export function StepCurve(props: CurveChartProps) {
  return <CurveChart shape="step" {...props} />;
}
