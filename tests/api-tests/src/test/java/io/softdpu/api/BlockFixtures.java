package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.block.BlockCapabilities;
import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockDiscardTask;
import io.softdpu.block.BlockExtentsTask;
import io.softdpu.block.BlockFlushTask;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockTaskCallback;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.BlockWriteZeroesTask;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.property.BlockUriException;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

/** Block devices, their contexts and tasks. */
final class BlockFixtures {
    private static final int BLOCK = 512;
    private static final List<String> STATES_OF_TASK =
            List.of("allocated", "in flight", "done", "freed", "context closed");

    private BlockFixtures() {}

    static void register(Registry registry) {
        registry.none(BlockTaskCallback.class, "implemented by users, called by libraries only");
        registry.value(BlockUriException.class, new BlockUriException("no such scheme: scheme=x"));
        registry.value(BlockFeature.class, BlockFeature.FUA);
        registry.value(BlockIdentity.class, new BlockIdentity(1, 2));
        registry.value(
                BlockProperties.class,
                new BlockProperties(4096, BLOCK, BLOCK, BLOCK, 1, Set.of(), "a device"));
        registry.add(
                BlockCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> BlockCapabilities.of(scope.environment.p0.info()));
        registry.add(
                BlockDevice.class,
                Threads.ANY,
                List.of("attached", "opened", "in use", "closed"),
                BlockFixtures::device);
        registry.add(
                BlockContext.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "configured",
                        "running",
                        "stopping",
                        "stopped",
                        "closed"),
                BlockFixtures::context);
        task(
                registry,
                BlockReadTask.class,
                (scope, context) -> context.allocateRead(0, BLOCK, room(scope)));
        task(
                registry,
                BlockWriteTask.class,
                (scope, context) ->
                        context.allocateWrite(0, scope.buf(scope.environment.p0, BLOCK, BLOCK)));
        task(registry, BlockFlushTask.class, (scope, context) -> context.allocateFlush());
        task(
                registry,
                BlockDiscardTask.class,
                (scope, context) -> context.allocateDiscard(0, BLOCK));
        task(
                registry,
                BlockWriteZeroesTask.class,
                (scope, context) -> context.allocateWriteZeroes(0, BLOCK));
        task(
                registry,
                BlockExtentsTask.class,
                (scope, context) -> context.allocateExtents(0, 2 * BLOCK));
    }

    private static void task(
            Registry registry,
            Class<?> type,
            BiFunction<FixtureScope, BlockContext, Task> allocation) {
        registry.add(
                type,
                Threads.OF_ENGINE,
                STATES_OF_TASK,
                (scope, state) -> {
                    BlockContext context = context(scope, "running");
                    Task task = scope.keep(allocation.apply(scope, context));
                    bringTo(scope, context, task, state);
                    return task;
                });
    }

    private static void bringTo(FixtureScope scope, BlockContext context, Task task, String state) {
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scope.until("done", () -> context.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scope.stop(context);
                context.close();
            }
            default -> {}
        }
    }

    private static Buf room(FixtureScope scope) {
        return scope.buf(scope.environment.p0, BLOCK, 0);
    }

    private static BlockDevice device(FixtureScope scope, String state) {
        if (state.equals("opened")) {
            return scope.keep(BlockDevice.open("sparse:64KiB", BLOCK));
        }
        BlockDevice device = attached(scope);
        switch (state) {
            case "in use" -> {
                BlockContext context = configured(scope, device);
                scope.engine().connect(context);
                context.start();
            }
            case "closed" -> device.close();
            default -> {}
        }
        return device;
    }

    /** A device that contexts can be created of. */
    static BlockDevice attached(FixtureScope scope) {
        BlockDevice device = scope.keep(BlockDevice.open("sparse:64KiB", BLOCK));
        device.attach(scope.environment.p0);
        return device;
    }

    /** A context that lacks an engine alone. */
    static BlockContext configured(FixtureScope scope, BlockDevice device) {
        return scope.keep(device.createContext())
                .setReadTasks(1, task -> {}, task -> {})
                .setWriteTasks(1, task -> {}, task -> {})
                .setFlushTasks(1, task -> {}, task -> {})
                .setDiscardTasks(1, task -> {}, task -> {})
                .setWriteZeroesTasks(1, task -> {}, task -> {})
                .setExtentsTasks(1, task -> {}, task -> {});
    }

    private static BlockContext context(FixtureScope scope, String state) {
        BlockDevice device = attached(scope);
        if (state.equals("created")) {
            return scope.keep(device.createContext());
        }
        BlockContext context = configured(scope, device);
        if (state.equals("configured")) {
            return context;
        }
        scope.engine().connect(context);
        switch (state) {
            case "running" -> context.start();
            case "stopping" -> {
                context.start();
                scope.keep(context.allocateFlush());
                context.stop();
            }
            case "stopped" -> {
                context.start();
                scope.stop(context);
            }
            case "closed" -> context.close();
            default -> {}
        }
        return context;
    }
}
