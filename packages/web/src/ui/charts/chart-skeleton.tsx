import { Skeleton } from "../skeleton.tsx";

export function ChartSkeleton() {
  return (
    <div role="status" className="flex flex-1 flex-col gap-2 px-4 pt-2.5 pb-3">
      <span className="sr-only">Loading</span>
      <div className="flex h-7 items-center">
        <Skeleton className="h-3.5 w-40" />
      </div>
      <Skeleton className="min-h-52 flex-1" />
    </div>
  );
}
