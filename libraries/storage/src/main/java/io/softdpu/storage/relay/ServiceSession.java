package io.softdpu.storage.relay;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Mapping;
import io.softdpu.core.memory.Mmap;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.SessionStep;
import io.softdpu.storage.control.ComchServerControlChannel;
import io.softdpu.storage.control.ConsumerListener;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.TcpClientControlChannel;
import io.softdpu.storage.session.Session;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.worker.Closeables;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Session of a zero-copy service, on its control thread. */
final class ServiceSession extends Session<RelayWorker> implements ZeroCopyService {
    private static final String ROLE = "zero-copy";

    private final ServiceOptions options;
    private final Device device;
    private final Representor representor;

    private @Nullable ProgressEngine engine;
    private @Nullable TcpClientControlChannel storage;
    private @Nullable ComchServerControlChannel client;
    private @Nullable Mmap ioBlocks;
    private boolean storageShutDown;

    private ServiceSession(
            ServiceOptions options,
            Device device,
            Representor representor,
            SessionListener listener) {
        super(ROLE, listener, options.controlTimeout().toNanos());
        this.options = options;
        this.device = device;
        this.representor = representor;
    }

    static ServiceSession open(Machine machine, ServiceOptions options, SessionListener listener) {
        if (machine.side() != Side.DPU) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "zero-copy service runs on the DPU only: side="
                            + machine.side()
                            + ", expected="
                            + Side.DPU);
        }
        Device device = openDevice(ROLE, machine, options.device());
        try {
            requireProvider(device, options.provider());
            Representor representor = openRepresentor(ROLE, device, options.representor());
            return new ServiceSession(options, device, representor, listener);
        } catch (RuntimeException e) {
            device.close();
            throw e;
        }
    }

    @Override
    protected void session() {
        ProgressEngine created = ProgressEngine.create();
        engine = created;
        TcpClientControlChannel toStorage =
                addChannel(ControlChannels.makeTcpClient(created, options.storageServer()));
        storage = toStorage;
        ComchServerControlChannel toClient =
                addChannel(
                        ControlChannels.makeComchServer(
                                created,
                                device,
                                representor,
                                options.commandChannelName(),
                                ConsumerListener.none(),
                                Duration.ofNanos(controlTimeoutNanos)));
        client = toClient;
        connectToStorage(toStorage);
        waitForClient(toClient);
        new RelaySession(this, toStorage, toClient, created).proceed();
    }

    private void connectToStorage(TcpClientControlChannel toStorage) {
        steps().begin(SessionStep.CONNECTING_TO_STORAGE, toStorage.description());
        try {
            toStorage.awaitConnected(Duration.ofNanos(controlTimeoutNanos));
        } catch (DpuException e) {
            throw aborted(e, "Aborted while connecting to storage");
        }
    }

    private void waitForClient(ComchServerControlChannel toClient) {
        steps().begin(SessionStep.WAITING_FOR_CLIENT, toClient.serverDescription());
        try {
            loop().awaitUntil("waiting for the initiator", Long.MAX_VALUE, toClient::isConnected);
        } catch (DpuException e) {
            throw aborted(e, "Aborted while connecting to client");
        }
        steps().begin(SessionStep.CONNECTED, toClient.description());
    }

    @Override
    protected void awaitEvent(Duration timeout) {
        if (engine != null) {
            engine.await(timeout);
        }
    }

    @Override
    protected void checkPeers() {
        checkStorage();
        if (client != null) {
            client.progress();
        }
    }

    /**
     * Checks the target, which sends messages only as replies: any other message is a failure, or
     * contains the target's own failure, such as that it serves another client.
     */
    void checkStorage() {
        if (storage != null && !storageShutDown) {
            requireNoMessage(storage, "storage target sent a message without a request");
        }
    }

    /** The target has shut down: it may end from now on. */
    void storageShutDown() {
        storageShutDown = true;
    }

    /**
     * Imports the initiator's memory for re-export. Not mapped, since the service does not access
     * the data.
     */
    Mmap importMemory(Blob export, long timeoutNanos) {
        Mmap imported =
                Mmap.createFromExport(
                        export.bytes(), device, Mapping.NONE, Duration.ofNanos(timeoutNanos));
        ioBlocks = imported;
        return imported;
    }

    ServiceOptions options() {
        return options;
    }

    Device device() {
        return device;
    }

    @Override
    protected void releaseResources() {
        ProgressEngine present = engine;
        if (present != null) {
            recordControlCopies(present.payloadBytesCopied(), present.messageBytesCopied());
        }
        Closeables.inOrder(
                logged("control channel to the storage target", storage),
                logged("control channel to the initiator", client),
                present,
                logged("mmap of the initiator's memory", ioBlocks),
                logged("representor", representor),
                logged("device", device));
    }
}
