package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.BlockContext;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Mmap;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Life of a device and its contexts, and what they tell of themselves. The last of the chain of
 * contracts: a test class of a device that extends it has all of them.
 */
public abstract class BlockDeviceContract extends BlockStopContract {
    /** For subclasses. */
    protected BlockDeviceContract() {}

    @Test
    void shouldTellItsSizesAndFeatures() {
        BlockDevice device = openDetached();
        BlockProperties properties = device.properties();

        assertThat(properties.sizeBytes()).isEqualTo(DEVICE_BYTES);
        assertThat(properties.blockSizeBytes()).isEqualTo(block());
        assertThat(properties.features())
                .containsExactlyInAnyOrderElementsOf(environment().features());
        assertThat(properties.description()).isNotBlank().isEqualTo(device.toString());
        assertThat(device.method()).isNotBlank();
    }

    @Test
    void shouldHaveAnotherIdentityAtEachOpenUnlessItIsPersistent() {
        BlockDevice device = openDetached();
        BlockIdentity identity = device.identity();

        assertThat(device.identity()).isEqualTo(identity);
        if (!device.properties().has(BlockFeature.PERSISTENT)) {
            assertThat(openDetached().identity()).isNotEqualTo(identity);
        }
    }

    @Test
    void shouldRefuseContextAndMemoryBeforeItIsAttached() {
        BlockDevice device = openDetached();

        refuses(Status.BAD_STATE, device::createContext, device.toString(), "BlockDevice.attach");
        refuses(Status.BAD_STATE, device::memory, device.toString(), "BlockDevice.attach");
    }

    @Test
    void shouldBeAttachedOnce() {
        BlockDevice device = open();

        refuses(Status.BAD_STATE, () -> device.attach(device()), device.toString(), "attached");
    }

    @Test
    void shouldRefuseAClosedDeviceOfTheMachine() {
        Device closed = card().dpu().findDevice("p0").open();
        closed.close();
        BlockDevice device = openDetached();

        refuses(Status.BAD_STATE, () -> device.attach(closed));
        device.attach(device()); // nothing has changed
    }

    @Test
    void shouldKeepItsDeviceOfTheMachineOpen() {
        Device own = card().dpu().findDevice("p0").open();
        BlockDevice device = openDetached();
        device.attach(own);

        refuses(Status.IN_USE, own::close, device.toString());
        device.close();
        own.close();
    }

    @Test
    void shouldShowItsBlocksAsMemoryIfTheyAre(SeededRandom random) {
        BlockDevice device = open();
        Mmap memory = device.memory();

        assertThat(memory != null).isEqualTo(environment().hasMemory());
        if (memory != null) {
            assertThat(memory.sizeBytes()).isEqualTo(DEVICE_BYTES);
            byte[] bytes = random.bytes(3 * block());
            start(device).write(block(), bytes);
            assertThat(
                            memory.segment()
                                    .asSlice(block(), bytes.length)
                                    .toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(bytes);
        }
    }

    // ---- close ----

    @Test
    void shouldStayOpenWhileContextsAreStarted() {
        BlockDevice device = open();
        Submitter one = start(device);
        Submitter two = start(device);

        refuses(Status.IN_USE, device::close, device.toString(), one.context.toString());
        one.stop();
        refuses(Status.IN_USE, device::close, device.toString(), two.context.toString());
        two.stop();
        device.close();
    }

    @Test
    void shouldBeClosedBesideContextsThatWereNeverStarted() {
        BlockDevice device = open();
        BlockContext context = device.createContext();
        Submitter.configure(context, 1, _ -> {});
        ProgressEngine engine = add(ProgressEngine.create());
        engine.connect(context);
        device.close();

        refuses(Status.BAD_STATE, context::start, device.toString(), "closed");
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldRefuseAllButItsPropertiesOnceClosed() {
        BlockDevice device = open();
        device.close();
        device.close(); // idempotent

        for (ThrowingCallable call :
                List.<ThrowingCallable>of(
                        device::createContext, device::memory, () -> device.attach(device()))) {
            refuses(Status.BAD_STATE, call, device.toString(), "closed");
        }
        assertThat(device.properties().sizeBytes()).isEqualTo(DEVICE_BYTES);
    }

    // ---- contexts ----

    @Test
    void shouldStartAContextAgain(SeededRandom random) {
        BlockDevice device = open();
        Submitter submitter = start(device);
        byte[] bytes = random.bytes(block());
        submitter.write(0, bytes);
        submitter.stop();
        submitter.assertEnded();

        assertThat(submitter.context.start()).isEqualTo(Status.SUCCESS);
        assertThat(submitter.bytes(0, block())).isEqualTo(kept(bytes));
    }

    @Test
    void shouldRefuseToStartWithoutTasks() {
        BlockDevice device = open();
        BlockContext context = device.createContext();
        add(ProgressEngine.create()).connect(context);

        refuses(Status.BAD_STATE, context::start, context.toString(), "setReadTasks");
    }

    @Test
    void shouldStartWithOneTypeOfTasks() {
        BlockDevice device = open();
        BlockContext context = device.createContext();
        context.setReadTasks(1, _ -> {}, _ -> {});
        ProgressEngine engine = add(ProgressEngine.create());
        engine.connect(context);
        add(context).start();

        refuses(Status.BAD_STATE, () -> context.tryAllocateDiscard(0, block()), "discard");
    }

    @Test
    void shouldKnowItsDevices() {
        BlockDevice device = open();
        BlockContext context = device.createContext();

        assertThat(context.blockDevice()).isSameAs(device);
        assertThat(context.device()).isSameAs(device());
        assertThat(context.toString()).contains(device.toString());
    }

    @ParameterizedTest
    @EnumSource(names = {"FLUSH", "DISCARD", "WRITE_ZEROES", "EXTENTS", "READ_ONLY"})
    void shouldRefuseTasksThatTheDeviceDoesNotHave(BlockFeature feature) {
        BlockDevice device = open();
        BlockContext context = device.createContext();
        boolean has = device.properties().has(feature);
        switch (feature) {
            case FLUSH ->
                    refusesUnless(
                            has,
                            Status.NOT_SUPPORTED,
                            () -> context.setFlushTasks(1, _ -> {}, _ -> {}));
            case DISCARD ->
                    refusesUnless(
                            has,
                            Status.NOT_SUPPORTED,
                            () -> context.setDiscardTasks(1, _ -> {}, _ -> {}));
            case WRITE_ZEROES ->
                    refusesUnless(
                            has,
                            Status.NOT_SUPPORTED,
                            () -> context.setWriteZeroesTasks(1, _ -> {}, _ -> {}));
            case EXTENTS ->
                    refusesUnless(
                            has,
                            Status.NOT_SUPPORTED,
                            () -> context.setExtentsTasks(1, _ -> {}, _ -> {}));
            case READ_ONLY ->
                    refusesUnless(
                            !has,
                            Status.NOT_PERMITTED,
                            () -> context.setWriteTasks(1, _ -> {}, _ -> {}));
            case FUA, PERSISTENT -> throw new AssertionError("no type of tasks: " + feature);
        }
    }

    private static void refusesUnless(boolean accepted, Status status, ThrowingCallable call) {
        if (accepted) {
            try {
                call.call();
            } catch (Throwable e) {
                throw new AssertionError("refused", e);
            }
        } else {
            refuses(status, call);
        }
    }

    /** Asserts that a call is refused, with these texts in the message. */
    static void refuses(Status status, ThrowingCallable call, String... named) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        refused -> {
                            assertThat(refused.status()).as(refused.getMessage()).isEqualTo(status);
                            assertThat(named)
                                    .allSatisfy(text ->
                                            assertThat(refused.getMessage()).contains(text));
                        });
    }
}
