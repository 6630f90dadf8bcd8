/**
 * What server reflection is spoken in: descriptor.proto (names below `google.` here, `google.protobuf.` in truth) and reflection.proto, in the words
 * of service-tables.ts. In descriptors presence counts, as in a oneof: a field of number 0 is written.
 */
export const REFLECTION_MESSAGES: Readonly<Record<string, string>> = {
  'google.FileDescriptorProto': `string name = 1; string package = 2; repeated string dependency = 3; repeated google.DescriptorProto message_type = 4;
    repeated google.EnumDescriptorProto enum_type = 5; repeated google.ServiceDescriptorProto service = 6; string syntax = 12`,
  'google.DescriptorProto': `string name = 1; repeated google.FieldDescriptorProto field = 2; repeated google.DescriptorProto nested_type = 3;
    repeated google.EnumDescriptorProto enum_type = 4; google.MessageOptions options = 7; repeated google.OneofDescriptorProto oneof_decl = 8`,
  'google.MessageOptions': 'bool map_entry = 7',
  'google.OneofDescriptorProto': 'string name = 1',
  'google.FieldDescriptorProto': `oneof presence: string name = 1; int32 number = 3; int32 label = 4; int32 type = 5; string type_name = 6;
    int32 oneof_index = 9; string json_name = 10`,
  'google.EnumDescriptorProto': 'string name = 1; repeated google.EnumValueDescriptorProto value = 2',
  'google.EnumValueDescriptorProto': 'oneof presence: string name = 1; int32 number = 2',
  'google.ServiceDescriptorProto': 'string name = 1; repeated google.MethodDescriptorProto method = 2',
  'google.MethodDescriptorProto': `string name = 1; string input_type = 2; string output_type = 3; bool client_streaming = 5;
    bool server_streaming = 6`,
  ServerReflectionRequest: `oneof message_request: string host = 1; string file_by_filename = 3; string file_containing_symbol = 4;
    ExtensionRequest file_containing_extension = 5; string all_extension_numbers_of_type = 6; string list_services = 7`,
  ExtensionRequest: 'string containing_type = 1; int32 extension_number = 2',
  ServerReflectionResponse: `string valid_host = 1; ServerReflectionRequest original_request = 2; FileDescriptorResponse file_descriptor_response = 4;
    ExtensionNumberResponse all_extension_numbers_response = 5; ListServiceResponse list_services_response = 6;
    ReflectionErrorResponse error_response = 7`,
  FileDescriptorResponse: 'repeated bytes file_descriptor_proto = 1',
  ExtensionNumberResponse: 'string base_type_name = 1; repeated int32 extension_number = 2',
  ListServiceResponse: 'repeated ServiceResponse service = 1',
  ServiceResponse: 'string name = 1',
  ReflectionErrorResponse: 'int32 error_code = 1; string error_message = 2',
}
