import { Counter, Gauge, type Registry } from "prom-client";

/** What Prometheus' clients say of every process. */
export function addProcessMetrics(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process in bytes.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time of the process, user and system, in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  const startedAtSeconds = performance.timeOrigin / 1000;
  new Gauge({
    name: "process_start_time_seconds",
    help: "Start of the process, in seconds since 1970-01-01 UTC.",
    aggregator: "min",
    registers,
  }).set(startedAtSeconds);
}
