//! Functions with a meaning for apitrace: those that end a frame, and queries that `apitrace dump`
//! leaves out unless it is verbose.
//!
//! Measured with apitrace 11.1 on a trace with a call of each of the 3,127 functions of its OpenGL
//! and EGL tracers, and of those of other APIs that `lib/trace/trace_parser_flags.cpp` names.

/// Functions that end a frame.
const FRAME_ENDS: [&str; 18] = [
    "CGLFlushDrawable",
    "IDirect3DDevice8::Present",
    "IDirect3DDevice9::GetRenderTargetData",
    "IDirect3DDevice9::Present",
    "IDirect3DDevice9Ex::GetRenderTargetData",
    "IDirect3DDevice9Ex::Present",
    "IDirect3DDevice9Ex::PresentEx",
    "IDirect3DSwapChain9::Present",
    "IDirect3DSwapChain9Ex::Present",
    "eglSwapBuffers",
    "eglSwapBuffersWithDamageEXT",
    "eglSwapBuffersWithDamageKHR",
    "glFrameTerminatorGREMEDY",
    "glXSwapBuffers",
    "glXSwapBuffersMscOML",
    "wglSwapBuffers",
    "wglSwapLayerBuffers",
    "wglSwapMultipleBuffers",
];

/// Queries by the beginning of their names, and the rest of the names.
const QUERIES: [(&str, &[&str]); 9] = [
    ("CGLGet", &["CurrentContext"]),
    ("IDirect3D8::", DIRECT3D),
    ("IDirect3D9::", DIRECT3D),
    ("IDirect3D9Ex::", DIRECT3D),
    ("egl", &["GetConfigAttrib", "GetProcAddress", "QueryString"]),
    ("glGet", &["String", "Stringi"]),
    ("glIs", GL_IS),
    (
        "glX",
        &[
            "GetClientString",
            "GetConfig",
            "GetCurrentContext",
            "GetCurrentDisplay",
            "GetCurrentDisplayEXT",
            "GetCurrentDrawable",
            "GetCurrentReadDrawable",
            "GetCurrentReadDrawableSGI",
            "GetFBConfigAttrib",
            "GetFBConfigAttribSGIX",
            "GetProcAddress",
            "GetProcAddressARB",
            "IsDirect",
            "QueryExtension",
            "QueryExtensionsString",
            "QueryVersion",
        ],
    ),
    (
        "wgl",
        &[
            "DescribePixelFormat",
            "GetCurrentContext",
            "GetCurrentDC",
            "GetDefaultProcAddress",
            "GetExtensionsStringARB",
            "GetExtensionsStringEXT",
            "GetPixelFormat",
            "GetPixelFormatAttribivARB",
            "GetPixelFormatAttribivEXT",
            "GetProcAddress",
        ],
    ),
];

/// Queries of the factories of Direct3D 8 and 9.
const DIRECT3D: &[&str] =
    &["CheckDeviceFormat", "EnumAdapterModes", "GetAdapterModeCount", "GetDeviceCaps"];

/// Queries whose names begin with `glIs`. apitrace shows those that it does not know.
const GL_IS: &[&str] = &[
    "AsyncMarkerSGIX",
    "Buffer",
    "BufferARB",
    "BufferResidentNV",
    "Enabled",
    "EnabledIndexedEXT",
    "Enabledi",
    "FenceAPPLE",
    "FenceNV",
    "Framebuffer",
    "FramebufferEXT",
    "List",
    "NameAMD",
    "NamedBufferResidentNV",
    "NamedStringARB",
    "ObjectBufferATI",
    "OcclusionQueryNV",
    "Program",
    "ProgramARB",
    "ProgramNV",
    "ProgramPipeline",
    "Query",
    "QueryARB",
    "Renderbuffer",
    "RenderbufferEXT",
    "Sampler",
    "Shader",
    "Sync",
    "Texture",
    "TextureEXT",
    "TransformFeedback",
    "TransformFeedbackNV",
    "VariantEnabledEXT",
    "VertexArray",
    "VertexArrayAPPLE",
    "VertexAttribEnabledAPPLE",
];

/// Whether a function ends a frame.
pub(super) fn ends_frame(name: &str) -> bool {
    if FRAME_ENDS.contains(&name) {
        return true;
    }
    // A swap chain of DXGI in any version.
    let dxgi = name.strip_prefix("IDXGISwapChain").or(name.strip_prefix("IDXGIDecodeSwapChain"));
    let method = dxgi.and_then(|rest| rest.split_once("::")).map(|(_, method)| method);
    method.is_some_and(|method| method.starts_with("Present"))
}

/// Whether `apitrace dump` leaves a function out. It also leaves out `glGetError` without an error.
pub(super) fn is_query(name: &str) -> bool {
    let is_listed = |(start, rests): &(&str, &[&str])| {
        name.strip_prefix(start).is_some_and(|rest| rests.contains(&rest))
    };
    QUERIES.iter().any(is_listed) || is_direct3d_query(name)
}

fn is_direct3d_query(name: &str) -> bool {
    let Some((interface, method)) = name.split_once("::") else { return false };
    let is_device = |base: &str| {
        let version = interface.strip_prefix(base);
        version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match method {
        "GetDeviceCaps" => {
            ["IDirect3DDevice8", "IDirect3DDevice9", "IDirect3DDevice9Ex"].contains(&interface)
        }
        "CheckFormatSupport" | "CheckMultisampleQualityLevels" => {
            is_device("ID3D10Device") || is_device("ID3D11Device")
        }
        "CheckVideoProcessorFormat" => interface == "ID3D11VideoProcessorEnumerator",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_end_and_queries_are_left_out_as_apitrace_does_it() {
        for name in ["glXSwapBuffers", "eglSwapBuffers", "IDXGISwapChain1::Present1"] {
            assert!(ends_frame(name) && !is_query(name), "{name}");
        }
        let direct3d = [
            "ID3D11Device1::CheckFormatSupport",
            "ID3D10Device::CheckMultisampleQualityLevels",
            "ID3D11VideoProcessorEnumerator::CheckVideoProcessorFormat",
            "IDirect3DDevice9Ex::GetDeviceCaps",
        ];
        for name in ["glGetString", "glIsBuffer", "glXIsDirect"].into_iter().chain(direct3d) {
            assert!(is_query(name) && !ends_frame(name), "{name}");
        }
        for name in ["glIsPathNV", "glGetIntegerv", "ID3D12Device::CheckFormatSupport", "glXSwap"] {
            assert!(!is_query(name) && !ends_frame(name), "{name}");
        }
    }
}
