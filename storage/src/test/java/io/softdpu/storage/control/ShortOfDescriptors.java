package io.softdpu.storage.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** A listening socket whose next accepts fail as they do for want of descriptors. */
final class ShortOfDescriptors extends ServerSocketChannel {
    private final ServerSocketChannel real;
    private int failures;

    private ShortOfDescriptors(ServerSocketChannel real) {
        super(real.provider());
        this.real = real;
    }

    static ShortOfDescriptors listen() throws IOException {
        ServerSocketChannel real = ServerSocketChannel.open();
        real.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        real.configureBlocking(false);
        return new ShortOfDescriptors(real);
    }

    /** How many accepts are to fail from now on. */
    void failures(int count) {
        failures = count;
    }

    @Override
    public SocketChannel accept() throws IOException {
        if (failures > 0) {
            failures--;
            throw new IOException("Too many open files");
        }
        return real.accept();
    }

    @Override
    public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
        real.bind(local, backlog);
        return this;
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        real.setOption(name, value);
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return real.getOption(name);
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return real.supportedOptions();
    }

    @Override
    public ServerSocket socket() {
        return real.socket();
    }

    @Override
    public InetSocketAddress getLocalAddress() throws IOException {
        return (InetSocketAddress) real.getLocalAddress();
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        real.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        real.configureBlocking(block);
    }
}
