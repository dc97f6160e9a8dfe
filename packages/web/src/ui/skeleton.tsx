import { clsx } from "clsx";

/** Takes the place of loading content, so that the layout does not shift. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={clsx("animate-pulse rounded bg-sunken", className)} />;
}

export function SkeletonRows({ count, className = "h-10" }: { count: number; className?: string }) {
  return (
    <div role="status" className="flex flex-col gap-2 p-4">
      <span className="sr-only">Loading</span>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <Skeleton key={index} className={className} />
      ))}
    </div>
  );
}
