package io.softdpu.api;

import io.softdpu.core.sync.SyncEvent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Knowledge that reflection cannot provide: how to create an object of each public type in each of
 * its states, the thread that it belongs to, and exceptions from the rules. A public type without
 * an entry fails the tests.
 */
final class Registry {
    /** Threads that may call an object's methods. */
    enum Threads {
        /** Everybody, at any time. */
        ANY,
        /** Any thread, but one at a time, which is not checked. */
        ONE_AT_A_TIME,
        /** The thread of the engine: others are refused with NOT_PERMITTED. */
        OF_ENGINE
    }

    /** Makes an object in a state. */
    @FunctionalInterface
    interface Maker {
        Object make(FixtureScope scope, String state);
    }

    /**
     * A type whose objects are made here.
     *
     * @param states all of them, the one in which most is allowed first
     */
    record Fixture(Class<?> type, Threads threads, List<String> states, Maker maker) {
        Object make(FixtureScope scope, String state) {
            return maker.make(scope, state);
        }
    }

    /** Calls without arguments that give something back and do more than look. */
    private static final Set<String> ACTS =
            Set.of(
                    "allocate",
                    "allocateFlush",
                    "tryAllocateFlush",
                    "allocateGet",
                    "tryAllocateGet",
                    "start",
                    "stop",
                    "progress",
                    "trySubmit",
                    "tryClaim",
                    "tryReceive",
                    "createInstance",
                    "disconnect",
                    "exportConnection",
                    "open",
                    "build");

    /** Of objects that belong to an engine's thread, what others may call, and why. */
    static final Map<String, String> FREE_OF_THREAD =
            Map.of(
                    "ProgressEngine.wake", "made for other threads: it ends a wait",
                    "ProgressEngine.execute", "made for other threads: it gives the engine work",
                    "Dma.createMemcpyJob", "jobs are for the threads of the work queues",
                    "Sha.createHashJob", "jobs are for the threads of the work queues",
                    "Sha.createPartialHashJob", "jobs are for the threads of the work queues",
                    "Sha.createSession", "sessions are for the threads of the work queues",
                    "SyncEventContext.createGetJob", "jobs are for the threads of the work queues",
                    "SyncEventContext.createSetJob", "jobs are for the threads of the work queues",
                    "SyncEventContext.createAddJob", "jobs are for the threads of the work queues",
                    "SyncEventContext.createWaitGreaterJob",
                            "jobs are for the threads of the work queues");

    /** Parameters for which each number is legal, and why. */
    static final Map<String, String> ANY_NUMBER =
            Map.ofEntries(
                    Map.entry(
                            "Status.ofCode.code",
                            "a peer's number; one that is not known is UNKNOWN"),
                    Map.entry("setUserData.userData", "the user's own number"),
                    Map.entry("BlockIdentity.new.high", "any bytes"),
                    Map.entry("BlockIdentity.new.low", "any bytes"),
                    Map.entry("isBlockSize.bytes", "a question"),
                    Map.entry("allocateRead.offsetBytes", "refused at submission"),
                    Map.entry("allocateRead.lengthBytes", "refused at submission"),
                    Map.entry("tryAllocateRead.offsetBytes", "refused at submission"),
                    Map.entry("tryAllocateRead.lengthBytes", "refused at submission"),
                    Map.entry("allocateWrite.offsetBytes", "refused at submission"),
                    Map.entry("tryAllocateWrite.offsetBytes", "refused at submission"),
                    Map.entry("allocateDiscard.offsetBytes", "refused at submission"),
                    Map.entry("allocateDiscard.lengthBytes", "refused at submission"),
                    Map.entry("tryAllocateDiscard.offsetBytes", "refused at submission"),
                    Map.entry("tryAllocateDiscard.lengthBytes", "refused at submission"),
                    Map.entry("allocateWriteZeroes.offsetBytes", "refused at submission"),
                    Map.entry("allocateWriteZeroes.lengthBytes", "refused at submission"),
                    Map.entry("tryAllocateWriteZeroes.offsetBytes", "refused at submission"),
                    Map.entry("tryAllocateWriteZeroes.lengthBytes", "refused at submission"),
                    Map.entry("allocateExtents.offsetBytes", "refused at submission"),
                    Map.entry("allocateExtents.lengthBytes", "refused at submission"),
                    Map.entry("tryAllocateExtents.offsetBytes", "refused at submission"),
                    Map.entry("tryAllocateExtents.lengthBytes", "refused at submission"),
                    Map.entry("setRange.offsetBytes", "refused at submission"),
                    Map.entry("setRange.lengthBytes", "refused at submission"),
                    Map.entry("setOffset.offsetBytes", "refused at submission"),
                    Map.entry(
                            "ProgressEngine.awaitUntil.nanoTime",
                            "a time of the clock, past or not"),
                    Map.entry("EngineTimer.setAt.nanoTime", "a time of the clock, past or not"),
                    Map.entry("Sanitizer.start.seed", "any number makes a sequence"),
                    Map.entry("Sanitizer.startForThread.seed", "any number makes a sequence"),
                    Map.entry("SanitizerReport.new.seed", "any number makes a sequence"),
                    Map.entry(
                            "ComchProducer.allocateSendTask.consumerId",
                            "the peer gives ids out: NOT_FOUND at submission"),
                    Map.entry(
                            "ComchProducer.tryAllocateSendTask.consumerId",
                            "the peer gives ids out: NOT_FOUND at submission"),
                    Map.entry(
                            "ComchProducerSendTask.setConsumerId.id",
                            "the peer gives ids out: NOT_FOUND at submission"),
                    Map.entry("allocateSendImmediate.immediate", "any value for the peer"),
                    Map.entry("tryAllocateSendImmediate.immediate", "any value for the peer"),
                    Map.entry("allocateWriteImmediate.immediate", "any value for the peer"),
                    Map.entry("tryAllocateWriteImmediate.immediate", "any value for the peer"),
                    Map.entry(
                            "RdmaSendImmediateTask.setImmediate.immediate",
                            "any value for the peer"),
                    Map.entry(
                            "RdmaWriteImmediateTask.setImmediate.immediate",
                            "any value for the peer"),
                    Map.entry("allocateCompareAndSwap.compareData", "any value of a word"),
                    Map.entry("tryAllocateCompareAndSwap.compareData", "any value of a word"),
                    Map.entry("allocateCompareAndSwap.swapData", "any value of a word"),
                    Map.entry("tryAllocateCompareAndSwap.swapData", "any value of a word"),
                    Map.entry("setCompareData.compareData", "any value of a word"),
                    Map.entry("setSwapData.swapData", "any value of a word"),
                    Map.entry("allocateFetchAndAdd.addData", "any value of a word"),
                    Map.entry("tryAllocateFetchAndAdd.addData", "any value of a word"),
                    Map.entry("allocateRemoteSyncEventNotifyAdd.addData", "any value of a counter"),
                    Map.entry(
                            "tryAllocateRemoteSyncEventNotifyAdd.addData",
                            "any value of a counter"),
                    Map.entry("setAddData.addData", "any value of a word"),
                    Map.entry("setValue.value", "any value of a counter"),
                    Map.entry("setIncrement.increment", "any value of a counter"),
                    Map.entry("setThreshold.threshold", "any value of a counter"),
                    Map.entry("allocateSet.value", "any value of a counter"),
                    Map.entry("tryAllocateSet.value", "any value of a counter"),
                    Map.entry("allocateAdd.increment", "any value of a counter"),
                    Map.entry("tryAllocateAdd.increment", "any value of a counter"),
                    Map.entry("allocateWaitGreater.threshold", "any value of a counter"),
                    Map.entry("tryAllocateWaitGreater.threshold", "any value of a counter"),
                    Map.entry("allocateWaitEqual.threshold", "any value of a counter"),
                    Map.entry("tryAllocateWaitEqual.threshold", "any value of a counter"),
                    Map.entry("allocateWaitNotEqual.threshold", "any value of a counter"),
                    Map.entry("tryAllocateWaitNotEqual.threshold", "any value of a counter"),
                    Map.entry("createSetJob.value", "any value of a counter"),
                    Map.entry("createAddJob.increment", "any value of a counter"),
                    Map.entry("createWaitGreaterJob.threshold", "any value of a counter"),
                    Map.entry("SyncEvent.set.value", "any value of a counter"),
                    Map.entry("SyncEvent.add.increment", "any value of a counter"),
                    Map.entry("setMask.mask", "all bits of a counter"),
                    Map.entry("allocateWaitGreater.mask", "all bits of a counter"),
                    Map.entry("tryAllocateWaitGreater.mask", "all bits of a counter"),
                    Map.entry("allocateWaitEqual.mask", "all bits of a counter"),
                    Map.entry("tryAllocateWaitEqual.mask", "all bits of a counter"),
                    Map.entry("allocateWaitNotEqual.mask", "all bits of a counter"),
                    Map.entry("tryAllocateWaitNotEqual.mask", "all bits of a counter"),
                    Map.entry("createWaitGreaterJob.mask", "all bits of a counter"),
                    Map.entry("waitGreater.threshold", "any value of a counter"),
                    Map.entry("waitGreater.mask", "any bits of a counter"),
                    Map.entry("waitGreaterYield.threshold", "any value of a counter"),
                    Map.entry("waitGreaterYield.mask", "any bits of a counter"),
                    Map.entry("waitEqual.expected", "any value of a counter"),
                    Map.entry("waitEqual.mask", "any bits of a counter"),
                    Map.entry("waitEqualYield.expected", "any value of a counter"),
                    Map.entry("waitEqualYield.mask", "any bits of a counter"),
                    Map.entry("waitNotEqual.unexpected", "any value of a counter"),
                    Map.entry("waitNotEqual.mask", "any bits of a counter"),
                    Map.entry("waitNotEqualYield.unexpected", "any value of a counter"),
                    Map.entry("waitNotEqualYield.mask", "any bits of a counter"));

    /** Operations that no state allows, and why. */
    static final Map<String, String> NEVER_ALLOWED =
            Map.of(
                    "Rdma.dpaHandle", "no machine has a DPA",
                    "SyncEvent.exportDpa", "no machine has a DPA",
                    "SyncEvent.exportGpu", "no machine has a GPU that waits");

    /** Operations that the compiler makes, and the language says what they throw. */
    static boolean isMadeByCompiler(Operation operation) {
        return operation.type().isEnum()
                && (operation.name().equals("valueOf") || operation.name().equals("values"));
    }

    /** Public types without operations to test, with the reason. */
    final Map<Class<?>, String> withoutFixture = new LinkedHashMap<>();

    /** Public types whose calls all answer NOT_SUPPORTED; they are without a fixture, too. */
    final Set<Class<?>> unsupported = new LinkedHashSet<>();

    final Map<Class<?>, Fixture> fixtures = new LinkedHashMap<>();

    Registry() {
        CoreFixtures.register(this);
        DeviceFixtures.register(this);
        MemoryFixtures.register(this);
        ComchFixtures.register(this);
        RdmaFixtures.register(this);
        WorkQueueFixtures.register(this);
        GraphFixtures.register(this);
        DmaFixtures.register(this);
        ShaFixtures.register(this);
        SyncFixtures.register(this);
        BlockFixtures.register(this);
    }

    void add(Class<?> type, Threads threads, List<String> states, Maker maker) {
        fixtures.put(type, new Fixture(type, threads, states, maker));
    }

    /** A value: one state, any thread. */
    void value(Class<?> type, Object value) {
        add(type, Threads.ANY, List.of("value"), (scope, state) -> value);
    }

    /** A type of static calls, none of which is supported. */
    void unsupported(Class<?> type) {
        unsupported.add(type);
        none(type, "each call answers NOT_SUPPORTED");
    }

    void none(Class<?> type, String reason) {
        withoutFixture.put(type, reason);
    }

    /** Whether a call only looks: it changes nothing, so the object can be looked at again. */
    static boolean looks(Operation operation) {
        if (!operation.needsReceiver()) {
            return operation.key().equals("Status.ofCode");
        }
        return operation.needsReceiver()
                && operation.parameters().isEmpty()
                && !ACTS.contains(operation.name())
                && ((java.lang.reflect.Method) operation.executable()).getReturnType()
                        != void.class;
    }

    /** Whether the contract of java.lang.Object says it all: nothing is equal to null. */
    static boolean isOfObject(Operation operation) {
        return operation.name().equals("equals");
    }

    /** Whether a call waits until its numbers are met, without a limit: it has no others. */
    static boolean isUnboundedWait(Operation operation) {
        return operation.type() == SyncEvent.class
                && operation.name().startsWith("wait")
                && operation.parameters().size() == 2;
    }

    static boolean isAnyNumber(Operation operation, int parameter) {
        String name = operation.parameters().get(parameter).getName();
        return ANY_NUMBER.containsKey(operation.key() + "." + name)
                || ANY_NUMBER.containsKey(operation.name() + "." + name);
    }

    /** Entries that mean nothing any more. */
    List<String> stale(List<Class<?>> types) {
        List<String> stale = new ArrayList<>();
        fixtures.keySet().stream().filter(t -> !types.contains(t)).forEach(t -> stale.add("" + t));
        withoutFixture.keySet().stream()
                .filter(t -> !types.contains(t))
                .forEach(t -> stale.add("" + t));
        return stale;
    }
}
