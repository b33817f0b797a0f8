package io.softdpu.block.spi;

/** Provider of the block devices of one scheme, found by ServiceLoader. Stateless; any thread. */
public interface BlockProvider {
    /** The word before the colon, unique: lower-case letters and digits, a letter first. */
    String scheme();

    /** How its URIs look, for messages: {@code memory:SIZE}. */
    String form();

    /**
     * Opens a device.
     *
     * @throws io.softdpu.core.DpuException by {@link DeviceUri#refused} for what is wrong in the
     *     URI; else as the device cannot be opened, naming it
     */
    ProviderDevice open(DeviceUri uri);
}
