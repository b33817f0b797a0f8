package io.softdpu.fabric;

import java.util.concurrent.CompletableFuture;

/**
 * Maps an imported region and brings its pages in, a slice at a time: a gigabyte takes a good part
 * of a second, for which nobody else's handshake is kept waiting. On the bus thread.
 */
final class MappingJob implements BusLoop.Job {
    private final ImportedRegion region;
    private final CompletableFuture<ImportedRegion> result;

    private MappingJob(ImportedRegion region, CompletableFuture<ImportedRegion> result) {
        this.region = region;
        this.result = result;
    }

    /** What is granted, mapped. */
    static CompletableFuture<ImportedRegion> follow(
            Bus bus, CompletableFuture<ImportedRegion> granted) {
        CompletableFuture<ImportedRegion> mapped = new CompletableFuture<>();
        var _ =
                granted.whenComplete((region, failure) -> {
                    if (failure != null) {
                        mapped.completeExceptionally(failure);
                    } else { // here the caller's thread may be as well as the bus thread
                        MappingJob job = new MappingJob(region, mapped);
                        bus.loop().execute(() -> bus.loop().addJob(job));
                    }
                });
        var _ =
                mapped.whenComplete((_, _) -> {
                    if (mapped.isCancelled()) {
                        granted.cancel(false);
                    }
                });
        return mapped;
    }

    @Override
    public boolean runSlice() {
        if (result.isDone()) { // cancelled
            region.close();
            return false;
        }
        try {
            if (region.mapNextSlice()) {
                return true;
            }
        } catch (RuntimeException e) {
            region.close();
            result.completeExceptionally(Answers.translated(e));
            return false;
        } catch (Error e) { // whoever waits hears of it, and so does the bus thread
            region.close();
            result.completeExceptionally(e);
            throw e;
        }
        if (!result.complete(region)) {
            region.close();
        }
        return false;
    }

    @Override
    public void onShutdown() {
        region.close();
        result.completeExceptionally(
                new FabricException(
                        FabricException.Kind.CLOSED, "bus closed while a region was mapped"));
    }
}
