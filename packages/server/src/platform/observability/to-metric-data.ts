import { type HrTime, ValueType } from "@opentelemetry/api";
import { AggregationTemporality, DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";
import type { MetricObjectWithValues, MetricValue } from "prom-client";

/** Figures as `/metrics` shows them. */
export type PrometheusMetric = MetricObjectWithValues<MetricValue<string>>;

/** The same figures as OTLP has them, under the same names. */
export function toMetricData(metrics: readonly PrometheusMetric[], nowMs: number): MetricData[] {
  const times = { startTime: hrTime(performance.timeOrigin), endTime: hrTime(nowMs) };
  return metrics.flatMap((metric): MetricData[] => {
    const { name, help: description } = metric;
    const descriptor = { name, description, unit: unitOf(name), valueType: ValueType.DOUBLE };
    const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
    const points = () =>
      metric.values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
    // prom-client's types have numbers for what its JSON names by texts.
    switch (String(metric.type)) {
      case "counter":
        return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }];
      case "gauge":
        return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }];
      case "histogram":
        return [
          {
            ...common,
            dataPointType: DataPointType.HISTOGRAM,
            dataPoints: histogramsOf(metric).map((point) => ({ ...times, ...point })),
          },
        ];
      default:
        return [];
    }
  });
}

/** A series has a value for each bucket, which counts those below as well, and one each for its sum and its count. */
function histogramsOf({ name, values }: PrometheusMetric) {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((ofSeries) => {
    const { le: _, ...attributes } = ofSeries[0]?.labels ?? {};
    const buckets = ofSeries.filter(({ labels }) => labels.le !== undefined);
    const isPart = (part: string) => (value: object) =>
      "metricName" in value && value.metricName === name + part;
    return {
      attributes,
      value: {
        buckets: {
          boundaries: buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite),
          counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
        },
        sum: ofSeries.find(isPart("_sum"))?.value ?? 0,
        count: ofSeries.find(isPart("_count"))?.value ?? 0,
      },
    };
  });
}

function unitOf(name: string): string {
  const [, unit] = /_(seconds|bytes)(?:_total)?$/.exec(name) ?? [];
  if (unit === undefined) return "";
  return unit === "seconds" ? "s" : "By";
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)];
}
