package io.softdpu.block.fault;

import io.softdpu.block.spi.BlockProvider;
import io.softdpu.block.spi.BlockProviders;
import io.softdpu.block.spi.DeviceUri;
import io.softdpu.block.spi.ProviderDevice;

/**
 * Provider of devices that fail on demand. What is behind the options is the URI of the device that
 * they wrap.
 */
public final class FaultProvider implements BlockProvider {
    private static final String SCHEME = "fault";

    /** For ServiceLoader. */
    public FaultProvider() {}

    @Override
    public String scheme() {
        return SCHEME;
    }

    @Override
    public String form() {
        return SCHEME + ":" + FaultOptions.FORM + ":URI";
    }

    @Override
    public ProviderDevice open(DeviceUri uri) {
        int colon = uri.rest().indexOf(':');
        if (colon < 0) {
            throw uri.refused("no URI behind the options");
        }
        String text = uri.rest().substring(0, colon);
        String inner = uri.rest().substring(colon + 1);
        FaultOptions options = FaultOptions.parse(uri, text);
        if (inner.isEmpty()) {
            throw uri.refused("no URI behind the options");
        }
        if (inner.startsWith(SCHEME + ":")) {
            throw uri.refused("a fault device cannot wrap another: its options go into one");
        }
        ProviderDevice wrapped = BlockProviders.open(inner, uri.blockSizeBytes());
        boolean opened = false;
        try {
            String description = SCHEME + ":" + text + ":" + wrapped.properties().description();
            ProviderDevice device =
                    options.hasVolatileCache()
                            ? VolatileDevice.over(wrapped, options.seed())
                            : wrapped;
            opened = true;
            return new FaultDevice(device, options, description);
        } finally {
            if (!opened) {
                wrapped.close();
            }
        }
    }
}
